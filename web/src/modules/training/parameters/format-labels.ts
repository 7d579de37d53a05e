import type { DataFormatName } from '@bakehouse/contract/limits';

/** What people call the formats of a data file. */
export const formatLabels: Record<DataFormatName, string> = {
  messages: 'Messages',
  sharegpt: 'ShareGPT',
  alpaca: 'Alpaca',
  prompt_completion: 'Question and answer',
  text: 'Text',
};

/** What a row of each has. */
export const formatDescriptions: Record<DataFormatName, string> = {
  messages: 'A list of messages with role and content',
  sharegpt: 'A list of turns with from and value',
  alpaca: 'Instruction, input and output',
  prompt_completion: 'Two columns: a question and its answer',
  text: 'One column of plain text',
};
