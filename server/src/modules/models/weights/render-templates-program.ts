import { answerConfined } from '../../../platform/confined/answer-confined.ts';
import { renderTemplates, type TemplateSource } from './check-model-file.ts';

/** The program behind `checkChatTemplates`. */
await answerConfined(({ localPath, source }: { localPath: string; source: TemplateSource }) =>
  renderTemplates(localPath, source),
);
