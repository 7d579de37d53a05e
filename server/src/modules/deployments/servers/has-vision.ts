import { sql } from 'kysely';

/**
 * SQL that is true if the model of the `server` reads pictures. vLLM's files then describe how to prepare a
 * picture, and llama.cpp's files include a projector. Keep in step with `preparesPictures` and `findProjector`.
 */
export const hasVision = sql<boolean>`(server.kind = 'text' and server.base_files @?
  '$[*] ? (@.path like_regex "^(pre)?processor_config[.]json$|(^|/)mmproj[^/]*[.]gguf$" flag "i")')`;
