/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer: any bytes as an nft file. See read_back.h. */
#include "read_back.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_back(LANG_NFT, data, size);
	return 0;
}
