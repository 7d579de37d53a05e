import type { WorkloadSpec } from '../../engine/model/workload.ts';
import { type EmbeddingEngine, embeddingSpec } from './embedding-spec.ts';
import { type ImageEngine, imageSpec } from './image-spec.ts';
import { placeEmbeddingModel } from './placement/embedding/place-embedding-model.ts';
import { placeImageModel } from './placement/place-image-model.ts';
import { placeTextModel } from './placement/text/place-text-model.ts';
import type { Place, ServerParts } from './served-model.ts';
import { type TextEngine, textSpec } from './text-spec.ts';

/** Differences between kinds of model servers. */
type ServerKind = {
  /** Places a starter model. */
  place: Place;
  /** Returns the runtime's spec. The runtime itself detects whether the server is ready, or hangs. */
  spec: (parts: ServerParts) => WorkloadSpec;
};

/** All kinds of model servers, by the output of their models. */
export const serverKinds = {
  text: { place: placeTextModel, spec: textSpec },
  embedding: { place: placeEmbeddingModel, spec: embeddingSpec },
  image: { place: placeImageModel, spec: imageSpec },
} as const satisfies Record<string, ServerKind>;

export type ServerKindName = keyof typeof serverKinds;

/** Engine of each kind. */
export type EngineOf = { text: TextEngine; embedding: EmbeddingEngine; image: ImageEngine };

/** Returns the kind by its name in the database. Throws for an unknown name. */
export function findServerKind(name: string): ServerKind {
  const kind = Object.entries<ServerKind>(serverKinds).find(([known]) => known === name)?.[1];
  if (!kind) throw new Error(`Unknown kind of model server '${name}'`);
  return kind;
}
