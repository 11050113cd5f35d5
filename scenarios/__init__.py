"""The scenarios that ship with rpcbench, one YAML file each; with this file the wheel takes them along."""
