// Package tools pins the programs that check this project, in a module of its
// own: what they need is not what rdmaprobe needs.
package tools
