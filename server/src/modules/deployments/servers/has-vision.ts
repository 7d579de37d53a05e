import { sql } from 'kysely';
import { PROJECTOR_PATTERN } from '../../models/weights/model-files.ts';

/**
 * SQL that is true if the model of the `server` reads pictures. vLLM's files then describe how to prepare a
 * picture, and llama.cpp's files include a projector. Keep in step with `preparesPictures`.
 */
export const hasVision = sql<boolean>`(server.kind = 'text' and server.base_files @?
  '$[*] ? (@.path like_regex "^(pre)?processor_config[.]json$|${sql.raw(PROJECTOR_PATTERN)}" flag "i")')`;
