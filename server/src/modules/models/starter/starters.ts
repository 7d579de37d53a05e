import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { StarterTask } from '../../assets/queries.ts';
import { listStarterRows } from './queries.ts';

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

/** Description of the language starter model; preparing the machine creates its files. */
export const starterLanguageModel = {
  /** Identifies the asset, so it must never change. */
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

export type StarterModelRef = {
  assetId: string;
  title: string;
  /** Slug: the `model` name in OpenAI-style calls. */
  modelName: string;
  task: StarterTask;
  createdAt: Date;
};

/** Returns the models that every user may use, oldest first. */
export async function listStarterModels(db: Database | Transaction): Promise<StarterModelRef[]> {
  return (await listStarterRows(db)).map((row) => ({
    assetId: row.id,
    title: row.title,
    modelName: row.slug,
    task: row.task,
    createdAt: row.created_at,
  }));
}
