print("peerconnect")
