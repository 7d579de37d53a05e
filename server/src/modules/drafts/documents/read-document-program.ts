import { answerConfined } from '../../../platform/confined/answer-confined.ts';
import { readDocument } from './read-document.ts';
import { UnreadableDocument } from './sections.ts';

/** Entry point of `addDocument`'s confined process. */
await answerConfined(async ({ localPath, name }: { localPath: string; name: string }) => {
  try {
    return { sections: await readDocument(localPath, name) };
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    return { unreadable: error.message };
  }
});
