import * as z from 'zod';
import { cleanFilePath } from '../../../modules/assets/files/upload/clean-path.ts';
import { refused } from '../../../platform/errors.ts';
import { parseLine } from '../../../platform/http/bodies/split-lines.ts';

/** The stored path may differ from the one sent: accents are composed and invisible characters removed. */
const path = z.string().transform((sent) => cleanFilePath(sent));
const folder = z.string().transform((sent) => cleanFilePath(sent.replace(/\/+$/, '')));
const commitId = z.string().regex(/^[0-9a-fA-F]{5,40}$/, 'parentCommit must be the id of a commit');

const line = z.discriminatedUnion('key', [
  z.object({
    key: z.literal('header'),
    value: z.object({
      summary: z.string().max(1000).default(''),
      description: z.string().max(65_536).nullish(),
      parentCommit: commitId.nullish(),
    }),
  }),
  z.object({
    key: z.literal('file'),
    value: z.object({ path, content: z.string(), encoding: z.enum(['base64', 'utf-8']).default('utf-8') }),
  }),
  z.object({
    key: z.literal('lfsFile'),
    value: z.object({
      path,
      algo: z.literal('sha256').default('sha256'),
      oid: z.string().regex(/^[0-9a-f]{64}$/, 'oid must be a SHA-256 in hexadecimal'),
    }),
  }),
  z.object({ key: z.literal('deletedFile'), value: z.object({ path }) }),
  z.object({ key: z.literal('deletedFolder'), value: z.object({ path: folder }) }),
  z.object({
    key: z.literal('copyFile'),
    value: z.object({ path, srcPath: z.string().min(1), srcRevision: z.string().min(1).nullish() }),
  }),
]);

/** One line of the body of a commit. */
export type CommitLine = z.output<typeof line>;

/** Parses a line, numbered from 1. Throws AppError('invalid_request') for an invalid line. */
export function parseCommitLine(text: string, number: number): CommitLine {
  const parsed = line.safeParse(parseJson(text, number));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const param = issue?.path.at(-1)?.toString() || 'key';
  throw refused(param, `Line ${number} of the commit: ${param} ${issue?.message ?? 'is not valid'}`);
}

function parseJson(text: string, number: number): unknown {
  try {
    return parseLine({ text, number }, 'key');
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw refused('key', `Line ${number} of the commit is not JSON`, cause);
  }
}
