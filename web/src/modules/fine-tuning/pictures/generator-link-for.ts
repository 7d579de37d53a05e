/** Returns the link to generate a picture with a LoRA. */
export const generatorLinkFor = (modelId: string) =>
  ({ to: '/flux-kontext', search: { settings: { lora: modelId, lora_scale: 1 } } }) as const;
