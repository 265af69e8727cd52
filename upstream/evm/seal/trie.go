package seal

import (
	"bytes"
	"slices"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"crossgate/chain"
)

// ListRoot is the root of the Merkle-Patricia trie of a list, keyed by places (Ethereum yellow paper, appendix D). No
// path is a prefix of another.
func ListRoot(list [][]byte) chain.Hash {
	if len(list) == 0 {
		return chain.Hash(crypto.Keccak256Hash(rlp.EmptyString))
	}
	leaves := make([]leaf, len(list))
	for i, value := range list {
		leaves[i].value = value
		for _, b := range rlp.AppendUint64(nil, uint64(i)) {
			leaves[i].path = append(leaves[i].path, b>>4, b&0xf)
		}
	}
	slices.SortFunc(leaves, func(a, b leaf) int { return bytes.Compare(a.path, b.path) })
	return chain.Hash(crypto.Keccak256Hash(trieNode(leaves, 0)))
}

type leaf struct {
	path  []byte // one nibble per byte
	value []byte
}

// trieNode encodes the node over leaves that share the first depth nibbles.
func trieNode(leaves []leaf, depth int) []byte {
	first, last := leaves[0].path, leaves[len(leaves)-1].path
	if len(leaves) == 1 {
		return encodeNode(hexPrefix(first[depth:], true), leaves[0].value)
	}
	shared := depth
	for shared < len(first) && shared < len(last) && first[shared] == last[shared] {
		shared++
	}
	if shared > depth {
		return encodeNode(hexPrefix(first[depth:shared], false), reference(trieNode(leaves, shared)))
	}
	items := make([]any, 17)
	items[16] = []byte{}
	for nibble := range 16 {
		from, _ := slices.BinarySearchFunc(leaves, nibble, func(l leaf, n int) int { return int(l.path[depth]) - n })
		to, _ := slices.BinarySearchFunc(leaves, nibble+1, func(l leaf, n int) int { return int(l.path[depth]) - n })
		items[nibble] = []byte{}
		if from < to {
			items[nibble] = reference(trieNode(leaves[from:to], depth+1))
		}
	}
	return encodeNode(items...)
}

// reference returns how a node refers to its child: the child itself if that is short, else its hash.
func reference(node []byte) any {
	if len(node) < len(chain.Hash{}) {
		return rlp.RawValue(node)
	}
	return crypto.Keccak256(node)
}

func encodeNode(items ...any) []byte {
	node, err := rlp.EncodeToBytes(items)
	if err != nil {
		panic("seal: bytes that RLP cannot hold: " + err.Error())
	}
	return node
}

// hexPrefix packs a path with flags for odd length and for a leaf (yellow paper, appendix C).
func hexPrefix(path []byte, ends bool) []byte {
	flag := byte(0)
	if ends {
		flag = 2
	}
	if len(path)%2 == 1 {
		path = slices.Concat([]byte{flag | 1}, path)
	} else {
		path = slices.Concat([]byte{flag, 0}, path)
	}
	packed := make([]byte, len(path)/2)
	for i := range packed {
		packed[i] = path[2*i]<<4 | path[2*i+1]
	}
	return packed
}
