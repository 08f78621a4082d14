/// Keys made with `openssl genpkey` for these tests alone, of the kinds that are no identity.
enum ForeignKeys {
    static let all = [rsa, ellipticCurve, x25519, ed448]

    static let rsa = """
        -----BEGIN PRIVATE KEY-----
        MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAMefWWHVaW3F1nzK
        hPKcyiwkqAPFDYqLakLydXAqlhrYLX4hZCYKS6kcdyY1ZpKRdBbS3K1h7dwvFctp
        kyY0CEbmHXlDHTunN45NHZeebl8cgoQm7/m1KiWl1B4PFvVSGgWfOh4trjZp7z7s
        MsAA/7JuSmuwVMwUGDq3Smj3W3fPAgMBAAECgYEAiOmU71Hk9oIrQvnPx2qcCzy0
        86jySaSnI/WRcHX078J3KTwTqTeEfx9j5RPZHwud+I11B4HUFyFALHxjjV9AkNHo
        5wOLzLUiUEk5UKiC6k+gehDnNymiY5zl7AkvMfG03fBlWuDLenjdewPHc08bWAKV
        qW9EF1blNdXQlJIe4uECQQDiRytUr9T880ANsVimwUwWafp6lyimoI4Jla3SHDxC
        duupu+fjlqkazoz9NUycjad4xGLVLfXrrpRzlMni3lsfAkEA4dfcFDG5Sa9gL10+
        vxEY0Y65PoiN+8vxCuyV2A0G6Uqb8q78RSV7NRPV7TjKP7ZlzNrgxcv/gZH2cA0Q
        xa39UQJBALlpgbr5/TdsBw9xQ2gYucUf/+vV0qx+oQR/jpe9JS99DGvfmgqmGFjr
        6SFOPEGH3TObEDUIXRtKyT/QKoFonBcCQBoYzHiU6llGZ7Hxb2+6tQh6GpPMScPf
        5CGkBwipMLRCh9S6PbJry1ntydmYp15HYGoUnMaedQ7u4/A8wkRlf5ECQQC+AM76
        M1zDnQ76DS9cWCgbKBd07fzJlA+IuC9VdKakv8RJWGih2zzEZ03ddFa/KOgWBvQO
        hFy4ZnYGHLDf72zq
        -----END PRIVATE KEY-----
        """

    static let ellipticCurve = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgX0BeK+lgbxnXjmCn
        kBuX8juHvYcruqWn0FTNlw2iH2+hRANCAATy3aoQNpVbu64/EYUQ1p+EOUts7Sv6
        80tbpmkDFytlphRog4ktmJUtMFhrL/X4/qDV5sugsL3OrbffgehkQKJG
        -----END PRIVATE KEY-----
        """

    static let x25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VuBCIEIGjhwbNXXE9u+I2eRLzYkOHxlL/XNNogMgMcydi7sbNI
        -----END PRIVATE KEY-----
        """

    static let ed448 = """
        -----BEGIN PRIVATE KEY-----
        MEcCAQAwBQYDK2VxBDsEOfOD/72jV+TDkLaO7OiCwSt7xxfZA0Xypm72XdUImu3u
        N7FAfBhhFbYIWa2qqdzcxeSTkY2DKKle7w==
        -----END PRIVATE KEY-----
        """

    /// An Ed25519 key behind a passphrase.
    static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhiR+gCGwOKYgICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEMDawzuTTAaqF7/O08sbvBEEQM1e
        8hWSG4byMtB+reS5536XMqeAjuB+Z4E7RmkNI6r/neXrd4Y3SEtqJTe5ZRHQiPbd
        pS1wvmkD5YX5H+tbQPM=
        -----END ENCRYPTED PRIVATE KEY-----
        """
}
