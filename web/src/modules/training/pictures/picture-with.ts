/** The link to a picture with a LoRA, which is chosen there. */
export const pictureWith = (modelId: string) =>
  ({ to: '/flux-kontext', search: { settings: { lora: modelId, lora_scale: 1 } } }) as const;
