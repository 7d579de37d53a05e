import type { WorkloadSpec } from '../../engine/model/workload.ts';
import { type EmbeddingEngine, embeddingSpec } from './embedding-spec.ts';
import { type ImageEngine, imageSpec } from './image-spec.ts';
import { placeEmbeddingModel } from './placement/embedding/place-embedding-model.ts';
import { placeImageModel } from './placement/place-image-model.ts';
import { placeTextModel } from './placement/text/place-text-model.ts';
import type { Place, ServerParts } from './served-model.ts';
import { type TextEngine, textSpec } from './text-spec.ts';

/** What differs between kinds of model servers. */
type ServerKind = {
  /** For a starter model. */
  place: Place;
  /** What the runtime is told, which reports when the server answers, and when it hangs. */
  spec: (parts: ServerParts) => WorkloadSpec;
};

/** Every kind of model server, by what it makes. */
export const serverKinds = {
  text: { place: placeTextModel, spec: textSpec },
  embedding: { place: placeEmbeddingModel, spec: embeddingSpec },
  image: { place: placeImageModel, spec: imageSpec },
} as const satisfies Record<string, ServerKind>;

export type ServerKindName = keyof typeof serverKinds;

/** What serves models of a kind. */
export type EngineOf = { text: TextEngine; embedding: EmbeddingEngine; image: ImageEngine };

/** The row of a kind of model servers by the name in the database. */
export function findServerKind(name: string): ServerKind {
  const kind = Object.entries<ServerKind>(serverKinds).find(([known]) => known === name)?.[1];
  if (!kind) throw new Error(`There is no kind of model servers '${name}'`);
  return kind;
}
