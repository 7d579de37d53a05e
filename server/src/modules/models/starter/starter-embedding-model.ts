/** Description of the embedding starter model; preparing the machine creates its files. */
export const starterEmbeddingModel = {
  slug: 'all-minilm-l6-v2',
  task: 'embedding' as const,
  title: 'all-MiniLM-L6-v2',
  details:
    'The starter embedding model: it turns a text of up to 256 tokens into 384 numbers, which are close together for texts with ' +
    'similar meanings. Small enough for the CPU of a laptop. By the authors of Sentence Transformers, under Apache-2.0.',
  category: 'Artificial intelligence',
  family: 'bert',
  tags: ['sentence-similarity', 'feature-extraction', 'sentence-transformers', 'starter'],
};
