"""The parts of the independent check of certificates; nothing here is used to make one."""
