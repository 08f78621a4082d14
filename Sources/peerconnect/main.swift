import PeerConnectCLI

await PeerConnectProgram.main()
