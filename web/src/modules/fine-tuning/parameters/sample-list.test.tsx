import { fireEvent, render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { SampleList } from './sample-list.tsx';

const format = {
  format: 'messages',
  input_column: 'messages',
  output_column: '',
  rejected_column: null,
  label_column: null,
  system_column: null,
} as const;
const sample = {
  turns: [
    { role: 'system', content: 'Be brief.', learnt: false },
    { role: 'user', content: 'Who bakes?', learnt: false },
    { role: 'assistant', content: 'Ada.', learnt: true },
    { role: 'user', content: 'And then?', learnt: false },
    { role: 'assistant', content: 'Cut away.', learnt: false },
  ] as const,
  parts: [
    { text: '<|user|>Who bakes?<|assistant|>', learnt: false },
    { text: 'Ada.<|end|>', learnt: true },
  ],
  tokens: 9,
  rejected: null,
  label: null,
  reference: null,
};

it("shows the turns of the first examples, and the model's input with the learned part marked", () => {
  render(<SampleList format={format} samples={[{ ...sample, turns: [...sample.turns] }]} />);
  fireEvent.click(screen.getByText('How the model sees the first examples'));
  expect(screen.getByText(/Data format: Messages/)).toBeTruthy();
  expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent)).toContain('SystemBe brief.');
  expect(screen.getByText('Ada.').className).toContain('bg-accent-soft');
  expect(screen.getByText('Cut away.').className).not.toContain('bg-accent-soft');
  expect(screen.getByText('Who bakes?').className).not.toContain('bg-accent-soft');
  fireEvent.click(screen.getByRole('button', { name: 'As the model reads it' }));
  expect(screen.getByText('Ada.<|end|>').tagName).toBe('MARK');
});

it('shows the better and worse answers side by side, with the question once', () => {
  const pair = {
    ...sample,
    turns: [...sample.turns.slice(1, 3)],
    rejected: {
      turns: [sample.turns[1], { role: 'assistant' as const, content: 'Nobody.', learnt: true }],
      parts: [
        { text: '<|user|>Who bakes?<|assistant|>', learnt: false },
        { text: 'Nobody.<|end|>', learnt: true },
      ],
      tokens: 9,
    },
  };
  render(<SampleList format={{ ...format, format: 'preference' }} samples={[pair]} />);
  fireEvent.click(screen.getByText('How the model sees the first examples'));
  expect(
    screen.getByText(/Data format: Preferences\. The model learns which of the two answers is better\./),
  ).toBeTruthy();
  const answer = (name: string) => screen.getByRole('group', { name }).textContent;
  expect(screen.getAllByText('Who bakes?')).toHaveLength(1);
  expect([answer('Better answer'), answer('Worse answer')]).toEqual([
    'Better answerAda.',
    'Worse answerNobody.',
  ]);
  fireEvent.click(screen.getByRole('button', { name: 'As the model reads it' }));
  expect(screen.getAllByText('<|user|>Who bakes?<|assistant|>')).toHaveLength(1);
  expect(answer('Worse answer')).toBe('Worse answerNobody.<|end|>');
  expect(screen.getByText('Ada.<|end|>').tagName).toBe('MARK');
  expect(screen.getByText('Nobody.<|end|>').tagName).toBe('P');
});

it('shows whether a rated answer is good', () => {
  const rated = { ...sample, turns: [...sample.turns.slice(1, 3)] };
  const samples = [
    { ...rated, label: true },
    { ...rated, label: false },
  ];
  render(<SampleList format={{ ...format, format: 'feedback', label_column: 'up' }} samples={samples} />);
  fireEvent.click(screen.getByText('How the model sees the first examples'));
  expect(
    screen.getByText(/^Data format: Feedback\. The marked parts of good answers become more likely/),
  ).toBeTruthy();
  expect(screen.getAllByText(/^(Good|Bad) answer$/).map(({ textContent }) => textContent)).toEqual([
    ...['Good answer', 'Bad answer'],
  ]);
});

it('shows plain text, which has no turns, as model input', () => {
  render(<SampleList format={null} samples={[{ ...sample, turns: [] }]} />);
  fireEvent.click(screen.getByText('How the model sees the first examples'));
  expect(screen.getByText('Ada.<|end|>')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Conversation' })).toBeNull();
});
