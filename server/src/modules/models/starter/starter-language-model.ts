/** Description of the language starter model; preparing the machine creates its files. */
export const starterLanguageModel = {
  /** Identifies the asset: never change it. */
  slug: 'smollm2-135m-instruct',
  task: 'text' as const,
  title: 'SmolLM2-135M-Instruct',
  details:
    'The starter language model: small enough to chat with, and to fine-tune, on the CPU of a laptop. ' +
    'By Hugging Face, under Apache-2.0.',
  category: 'Artificial intelligence',
  family: 'llama',
  tags: ['text-generation', 'llama', 'transformers', 'starter'],
};
