"""The browser part; installed as `tensorboard_plugin_darshan.static`."""
