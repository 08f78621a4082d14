import PeerConnectCLI

PeerConnectProgram.main()
