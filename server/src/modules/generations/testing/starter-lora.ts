/** For tests: a safetensors LoRA of rank 1 for one layer of the editing starter. */
export function starterLora(): Buffer {
  const width = 192;
  const layer = 'transformer.transformer_blocks.0.attn.to_v';
  const bytes = width * 4;
  const tensor = (shape: [number, number], begin: number) => ({
    ...{ dtype: 'F32', shape, data_offsets: [begin, begin + bytes] },
  });
  const header = JSON.stringify({
    [`${layer}.lora_A.weight`]: tensor([1, width], 0),
    [`${layer}.lora_B.weight`]: tensor([width, 1], bytes),
  });
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const values = Float32Array.from({ length: 2 * width }, (_, index) => (index % 3) - 1);
  return Buffer.concat([length, Buffer.from(header), Buffer.from(values.buffer)]);
}
