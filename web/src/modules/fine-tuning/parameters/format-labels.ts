import type { Adaptation } from '@bakehouse/contract/fine-tune-numbers';
import type { DataFormatName } from '@bakehouse/contract/limits';
import type { TextRun } from '@bakehouse/contract/runs';

/** Display names of the data formats. */
export const formatLabels: Record<DataFormatName, string> = {
  messages: 'Messages',
  sharegpt: 'ShareGPT',
  alpaca: 'Alpaca',
  prompt_completion: 'Question and answer',
  text: 'Text',
  preference: 'Preferences',
  feedback: 'Feedback',
  prompts: 'Prompts',
};

/** Content of a row per format. */
export const formatDescriptions: Record<DataFormatName, string> = {
  messages: 'A list of messages with role and content',
  sharegpt: 'A list of turns with from and value',
  alpaca: 'Instruction, input and output',
  prompt_completion: 'Two columns: a question and its answer',
  text: 'One column of plain text',
  preference: 'A question with a better and a worse answer',
  feedback: 'A question with an answer that is rated good or bad',
  prompts: 'Only a question, which the model answers itself',
};

export const adaptationLabels: Record<Adaptation, string> = {
  lora: 'LoRA: a small adapter',
  qlora: 'QLoRA: a small adapter, with the base in 4 bits',
  full: 'Full: all weights',
};

export const objectiveLabels: Record<TextRun['parameters']['objective'], string> = {
  sft: 'Learn the answers',
  dpo: 'Prefer the better answers (DPO)',
  kto: 'Learn from good and bad (KTO)',
  grpo: 'Learn from rewards (GRPO)',
  // Only in older runs.
  reward: 'Score answers (reward model)',
};
