package abi

// MutexSize is sizeof(pthread_mutex_t) on this system.
const MutexSize = 64
