package solana

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
	"reflect"
	"strings"

	bin "github.com/gagliardetto/binary"
)

// raw is bytes that are written as they are.
type raw []byte

// borsh writes values in Borsh, https://borsh.io: integers and arrays as they lie in memory of a little-endian machine,
// vectors of bytes and texts behind their length as u32, and what a pointer leads to behind one byte, which is zero
// for nil.
func borsh(values ...any) (out []byte) {
	for _, value := range values {
		switch v := value.(type) {
		case raw:
			out = append(out, v...)
		case []byte:
			out = append(binary.LittleEndian.AppendUint32(out, uint32(len(v))), v...)
		case string:
			out = append(out, borsh([]byte(v))...)
		default:
			out = appendFixed(out, v)
		}
	}
	return out
}

func appendFixed(out []byte, value any) []byte {
	if pointer := reflect.ValueOf(value); pointer.Kind() == reflect.Pointer {
		if pointer.IsNil() {
			return append(out, 0)
		}
		return append(append(out, 1), borsh(pointer.Elem().Interface())...)
	}
	out, err := binary.Append(out, binary.LittleEndian, value)
	if err != nil {
		panic(fmt.Sprintf("%T has no form in Borsh", value))
	}
	return out
}

// optional is a vector of bytes that is absent when empty.
func optional(v []byte) *[]byte {
	if len(v) == 0 {
		return nil
	}
	return &v
}

// optionalKey is a key that is absent when zero.
func optionalKey(k Key) *Key {
	if k == (Key{}) {
		return nil
	}
	return &k
}

// word is a number as the protocol's programs write it where the EVM has 256 bits: 32 bytes, big-endian.
func word(n *big.Int) raw { return n.FillBytes(make([]byte, 32)) }

// numberWord is a number, mostly a chain's, as it stands in seeds, accounts and hashes.
func numberWord(id uint64) raw { return word(new(big.Int).SetUint64(id)) }

// zeros are bytes that the sandbox has no use for.
func zeros(size int) raw { return make(raw, size) }

// padTo fills an account's data up to what is allocated for it.
func padTo(size int, data []byte) []byte { return append(data, zeros(size-len(data))...) }

// padded is text in a field of a fixed size behind its length, as Metaplex keeps names.
func padded(text string, size int) []byte { return padTo(size, []byte(text)) }

// anchor begins the data of an instruction ("global"), an event or an account as Anchor marks it: with the first eight
// bytes of the hash of its kind and name.
func anchor(kind, name string, fields ...any) []byte {
	hash := sha256.Sum256([]byte(kind + ":" + name))
	return append(hash[:8:8], borsh(fields...)...)
}

// anchorCall is a call of an Anchor program that the ledger makes itself: it carries what the program does.
func anchorCall(program Key, name string, accounts []Meta, run func(*invocation), args ...any) Instruction {
	in := anchored(program, name, accounts, args...)
	in.run = func(i *invocation) {
		i.log("%s", instructionLog(name))
		run(i)
	}
	return in
}

// anchored is a call of an Anchor program that runs by its accounts and data.
func anchored(program Key, name string, accounts []Meta, args ...any) Instruction {
	return Instruction{Program: program, Accounts: accounts, Data: anchor("global", name, args...)}
}

// instructionLog is what an Anchor program says first: the name of the instruction in camel case.
func instructionLog(name string) string {
	var logged strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		logged.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return "Instruction: " + logged.String()
}

// read decodes the arguments of an Anchor instruction; what stands behind them counts for nothing.
func (i *invocation) read(data []byte, args any) {
	err := bin.NewBorshDecoder(data).Decode(args)
	i.check(err == nil, 102, "InstructionDidNotDeserialize", "The program could not deserialize the given instruction")
}

// checkSigner fails as Anchor does unless an account signed.
func (i *invocation) checkSigner(m Meta) {
	i.check(m.Signer, 3010, "AccountNotSigner", "The given account did not sign")
}

// checkAddress fails as Anchor does unless an account is the one that its seeds give.
func (i *invocation) checkAddress(m Meta, want Key) {
	i.check(m.Key == want, 2006, "ConstraintSeeds", "A seeds constraint was violated")
}
