package venue

// Values as contracts encode them: https://docs.soliditylang.org/en/latest/abi-spec.html

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/chain/words"
)

// kind is a type of values: of words, bytes, lists or structs.
type kind struct {
	name        string // as in signatures
	place, size int    // of its place in a struct: offset and length, in bytes
	isDynamic   bool   // the place only holds an offset
	isList      bool
	members     []kind       // of a struct; the one of a list
	most        chain.Amount // the largest value of a word; zero for other types
}

// simple returns a type of words or bytes.
func simple(name string) kind {
	k := kind{name: name, size: words.Size, most: chain.MaxAmount}
	switch number, isNumber := strings.CutPrefix(name, "uint"); {
	case isNumber:
		bits, _ := strconv.Atoi(number)
		k.most = chain.AmountFromBytes(bytes.Repeat([]byte{0xff}, bits/8))
	case name == "address":
		k.most = chain.AmountFromBytes(bytes.Repeat([]byte{0xff}, common.AddressLength))
	case name == "bool":
		k.most = chain.NewAmount(1)
	case name == "bytes", name == "string":
		k.isDynamic, k.most = true, chain.Amount{}
	}
	return k
}

func listOf(member kind) kind {
	return kind{name: member.name + "[]", size: words.Size, isDynamic: true, isList: true, members: []kind{member}}
}

func structOf(members []kind) kind {
	k, names := kind{members: members}, make([]string, len(members))
	for i, m := range members {
		members[i].place = k.size
		names[i], k.size, k.isDynamic = m.name, k.size+m.size, k.isDynamic || m.isDynamic
	}
	if k.name = "(" + strings.Join(names, ",") + ")"; k.isDynamic {
		k.size = words.Size
	}
	return k
}

// value is a value, with which data begins.
type value struct {
	kind
	data []byte
}

// word returns a value that is a word; zero if there is none.
func (v value) word() (w [words.Size]byte) {
	copy(w[:], v.data)
	return w
}

func (v value) amount() chain.Amount {
	w := v.word()
	return chain.AmountFromBytes(w[:])
}

// address returns the lower 20 bytes of a word.
func (v value) address() chain.Address {
	w := v.word()
	return chain.NewAddress(w[words.Size-common.AddressLength:])
}

func (v value) isTrue() bool { return !v.amount().IsZero() }

// length returns how many bytes or members there are, and the data in which they are.
func (v value) length() (n int, held []byte, is bool) {
	length, fits := v.amount().Uint64()
	if len(v.data) < words.Size || !fits || length > uint64(len(v.data)-words.Size) {
		return 0, nil, false
	}
	return int(length), v.data[words.Size:], true
}

func (v value) bytes() []byte {
	n, held, _ := v.length()
	return held[:n]
}

func (v value) list() (all []value) {
	for one, is := v.member(0); is; one, is = v.member(len(all)) {
		all = append(all, one)
	}
	return all
}

// at returns the value at a position within this one, if there is one.
func (v value) at(p ...int) (found value, is bool) {
	found, is = v, true
	for i := 0; i < len(p) && is; i++ {
		found, is = found.member(p[i])
	}
	return found, is
}

// member returns a member of a struct or list; -1 is a list's last one.
func (v value) member(i int) (found value, is bool) {
	n, held := len(v.members), v.data
	if v.isList {
		if n, held, _ = v.length(); i < 0 {
			i += n
		}
	}
	if i < 0 || i >= n {
		return value{}, false
	}
	k, place := v.members[0], i*v.members[0].size
	if !v.isList {
		k, place = v.members[i], v.members[i].place
	}
	if len(held) < place+k.size {
		return value{}, false
	}
	found = value{k, held[place:]}
	if k.isDynamic {
		offset, fits := found.amount().Uint64()
		if !fits || offset > uint64(len(held)) {
			return value{}, false
		}
		found.data = held[offset:]
	}
	return found, true
}

var (
	errCutOff = errors.New("it is truncated")
	errShared = errors.New("its values share their data")
	errDirty  = errors.New("a value has more bits than its type")
)

// behind returns the data behind the value and all that it points to, without the zeros that pad a word. An error means
// that data is not a value of the type.
func (v value) behind() ([]byte, error) {
	w := walk{rest: v.data, values: 2 + 2*len(v.data)/words.Size} // a word, and a struct around it
	if err := w.read(v); err != nil {
		return nil, err
	}
	padding := min(-(len(v.data)-len(w.rest))&(words.Size-1), len(w.rest))
	if len(bytes.Trim(w.rest[:padding], "\x00")) > 0 {
		return w.rest, nil
	}
	return w.rest[padding:], nil
}

// walk visits everything in a value.
type walk struct {
	rest   []byte // behind the visited values
	values int    // that may still be visited: those that share data could take forever
}

func (w *walk) read(v value) error {
	if w.values--; w.values < 0 {
		return errShared
	}
	n, rest, isWhole := len(v.members), v.data, true
	switch isWord := !v.most.IsZero(); {
	case isWord && v.amount().Cmp(v.most) > 0:
		return errDirty
	case isWord:
		rest = rest[words.Size:]
	case v.isList:
		n, rest, isWhole = v.length()
	case v.isDynamic && n == 0:
		n, rest, isWhole = v.length()
		n, rest = 0, rest[n:]
	}
	if !isWhole {
		return errCutOff
	}
	if len(rest) < len(w.rest) {
		w.rest = rest
	}
	for i := range n {
		one, is := v.member(i)
		if !is {
			return errCutOff
		}
		if err := w.read(one); err != nil {
			return err
		}
	}
	return nil
}
