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

// raw is bytes to write without a length.
type raw []byte

// borsh encodes values in Borsh, https://borsh.io: integers and arrays in little-endian form, vectors of bytes and
// texts after their length as u32, and pointers as one byte, which is zero for nil, followed by what they point to.
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

// optional returns a vector of bytes that is absent if empty.
func optional(v []byte) *[]byte {
	if len(v) == 0 {
		return nil
	}
	return &v
}

// optionalKey returns a key that is absent if zero.
func optionalKey(k Key) *Key {
	if k == (Key{}) {
		return nil
	}
	return &k
}

// word encodes a number in 32 bytes, big-endian, as the protocol's programs do where the EVM has 256 bits.
func word(n *big.Int) raw { return n.FillBytes(make([]byte, 32)) }

// numberWord encodes a number, usually a chain ID, as seeds, accounts and hashes contain it.
func numberWord(id uint64) raw { return word(new(big.Int).SetUint64(id)) }

// zeros returns bytes that the sandbox has no use for.
func zeros(size int) raw { return make(raw, size) }

// padTo pads an account's data to its allocated size.
func padTo(size int, data []byte) []byte { return append(data, zeros(size-len(data))...) }

// padded returns a text padded to a fixed size, to follow a length as in Metaplex names.
func padded(text string, size int) []byte { return padTo(size, []byte(text)) }

// anchor returns the data of an instruction ("global"), an event or an account with Anchor's discriminator: the first
// eight bytes of the hash of its kind and name.
func anchor(kind, name string, fields ...any) []byte {
	hash := sha256.Sum256([]byte(kind + ":" + name))
	return append(hash[:8:8], borsh(fields...)...)
}

// anchorCall returns a call of an Anchor program that the ledger makes itself, together with what the program does.
func anchorCall(program Key, name string, accounts []Meta, run func(*invocation), args ...any) Instruction {
	in := anchored(program, name, accounts, args...)
	in.run = func(i *invocation) {
		i.log("%s", instructionLog(name))
		run(i)
	}
	return in
}

// anchored returns a call of an Anchor program that runs by its accounts and data.
func anchored(program Key, name string, accounts []Meta, args ...any) Instruction {
	return Instruction{Program: program, Accounts: accounts, Data: anchor("global", name, args...)}
}

// instructionLog returns the first log line of an Anchor program: the name of the instruction in camel case.
func instructionLog(name string) string {
	var logged strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		logged.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return "Instruction: " + logged.String()
}

// read decodes the arguments of an Anchor instruction and ignores trailing bytes.
func (i *invocation) read(data []byte, args any) {
	err := bin.NewBorshDecoder(data).Decode(args)
	i.check(err == nil, 102, "InstructionDidNotDeserialize", "The program could not deserialize the given instruction")
}

// checkSigner fails, as Anchor does, unless an account signed.
func (i *invocation) checkSigner(m Meta) {
	i.check(m.Signer, 3010, "AccountNotSigner", "The given account did not sign")
}

// checkAddress fails, as Anchor does, unless an account is the one derived from its seeds.
func (i *invocation) checkAddress(m Meta, want Key) {
	i.check(m.Key == want, 2006, "ConstraintSeeds", "A seeds constraint was violated")
}
