import type { CheckModelFile } from '../../assets/files/upload/upload-file.ts';
import { checkChatTemplates } from './check-chat-templates.ts';
import { checkWeights } from './check-weights.ts';

/** Looks at a file of a model before anything loads it: its weights, and the chat templates that it has. */
export const checkModelFile: CheckModelFile = async (sandbox, file) => {
  await checkWeights(sandbox, file);
  await checkChatTemplates(sandbox, file);
};
