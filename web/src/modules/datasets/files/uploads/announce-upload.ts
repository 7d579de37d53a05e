import { getCredentials } from '../../../../lib/api/credentials.ts';
import { countOf } from '../../../../lib/format/count-of.ts';
import { notify } from '../../../../ui/notify.ts';
import type { UploadOutcome } from './uploads.ts';

/** Announces how an upload ended, on any page. `hasProblems`: some files cannot be trained on. */
export function announceUpload({ done, failed: [failed], paused }: UploadOutcome, hasProblems = false): void {
  // The sign-out cancelled it.
  if (getCredentials() === null) return;
  const summary = done.length === 1 ? 'File uploaded' : `${countOf(done.length, 'file')} uploaded`;
  if (failed) notify.failure('Failed to upload file.', { description: whyNot(failed) });
  else if (hasProblems) notify.warning(`${summary}, but not all of it can be trained on`);
  else if (done.length > 0) notify.success(summary);
  else if (paused.length === 0) notify.info('Upload cancelled');
}

/** Adds the path unless the error mentions it. */
function whyNot({ path, error }: UploadOutcome['failed'][number]): string {
  return error?.includes(path) ? error : [path, error].filter(Boolean).join(': ');
}
