package pages

import (
	"encoding/hex"
	"encoding/json"
	"strconv"

	"crossgate/chain"
	"crossgate/quote"
)

// snippet is the swap as a command or a piece of a program. Each asks for a fresh transaction: prices age by the block.
type snippet struct{ Name, Code string }

// snippetsOf are the ways in which the transactions of a family are sent.
func snippetsOf(v *swapView, family chain.Family) []snippet {
	all := []snippet{{"curl", "curl '" + v.Origin + v.Path + "'"}}
	if family != chain.EVM {
		return all
	}
	asked := "const { tx, tokenIn } = await (await fetch(" + strconv.Quote(v.Origin+v.Path) + ")).json()\n"
	ethers, viem := asked, asked
	if !v.In.Address.IsNative() {
		ethers += "const token = new ethers.Contract(tokenIn.address, ['function approve(address, uint256)'], signer)\n" +
			"await (await token.approve(tx.to, tokenIn.amount)).wait()\n"
		viem += "const approval = { address: tokenIn.address, abi: parseAbi(['function approve(address, uint256)']), functionName: 'approve' }\n" +
			"const approved = await wallet.writeContract({ ...approval, args: [tx.to, BigInt(tokenIn.amount)] })\n" +
			"await client.waitForTransactionReceipt({ hash: approved })\n"
	}
	ethers += "await signer.sendTransaction({ to: tx.to, data: tx.data, value: tx.value })"
	viem += "await wallet.sendTransaction({ to: tx.to, data: tx.data, value: BigInt(tx.value) })"
	return append(all, snippet{"ethers", ethers}, snippet{"viem", viem})
}

// txJSON is the transaction alone.
func txJSON(tx quote.Tx) string {
	members := map[string]string{"data": "0x" + hex.EncodeToString(tx.Data)}
	if !tx.To.IsAbsent() {
		members["to"], members["value"] = tx.To.Checksum(), tx.Value.String()
	}
	text, err := json.MarshalIndent(members, "", "  ")
	if err != nil {
		return ""
	}
	return string(text)
}
