/// What `--version` and the `ready` event say.
let programVersion = "0.1.0"
