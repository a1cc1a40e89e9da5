//go:build callsbypurego

package rdma

const callsByPurego = true
