import { createEmbeddings } from '@bakehouse/contract/embeddings';
import { starterEmbeddingModel } from '../../server/src/modules/models/starter/starter-embedding-model.ts';
import { Client } from '../client/client.ts';
import { waitForMachine } from '../client/machine-ready.ts';
import { startOwnServer } from '../client/own-server.ts';
import { startLlamaServer } from './llama-server.ts';
import { type Measured, medianPair, type Pair } from './measured.ts';

const ROUNDS = 25;
const TEXTS = Array.from(
  { length: 32 },
  (_, at) =>
    `Loaf ${at}: ${'a sourdough of rye and wheat, baked in a stone oven until its crust sings. '.repeat(3)}`,
);

/** Embeddings through the gateway, with its key check, hold and settlement, against llama.cpp alone on the same file. */
export async function measureEmbeddings(): Promise<Measured[]> {
  const llama = await startLlamaServer({ embeds: true });
  try {
    const server = await startOwnServer();
    try {
      const client = await Client.signUp(server.url, {
        name: 'Bench',
        email: 'bench@example.com',
        password: 'sourdough-starter',
      });
      await waitForMachine(client);
      const ours = () => embed(server.url, { 'x-api-key': client.apiKey });
      const theirs = () => embed(llama.url, {});
      // The first request wakes the model server.
      await ours();
      await theirs();
      const rounds: Pair[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        rounds.push({ ours: await ours(), theirs: await theirs() });
      const { ours: value, theirs: alone } = medianPair(rounds);
      return [
        {
          name: 'embeddings',
          unit: 'texts/s',
          ours: value,
          reference: { what: 'llama.cpp alone', value: alone },
          goal: { kind: 'ratio at least', value: 0.95 },
        },
      ];
    } finally {
      await server.stop();
    }
  } finally {
    await llama.stop();
  }
}

/** Texts per second. Throws where they are refused. */
async function embed(url: string, headers: Record<string, string>): Promise<number> {
  const start = performance.now();
  const response = await fetch(new URL(createEmbeddings.path, url), {
    method: createEmbeddings.method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ model: starterEmbeddingModel.slug, input: TEXTS }),
  });
  if (!response.ok) throw new Error(`The texts were refused with ${response.status}.`);
  const { data } = (await response.json()) as { data: unknown[] };
  if (data.length !== TEXTS.length) throw new Error(`Of ${TEXTS.length} texts ${data.length} were embedded.`);
  return (TEXTS.length * 1000) / (performance.now() - start);
}
