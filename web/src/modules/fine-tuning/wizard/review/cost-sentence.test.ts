import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { expect, it } from 'vitest';
import { costSentence } from './cost-sentence.ts';

const checked = (values: object = {}) =>
  ({
    cost_estimate: { quote: { total: '0.25' }, ceiling: '0.5', duration_hours: 8 / 60 },
    data: { train_examples: 24, eval_examples: 6 },
    placement: { device: 'cpu' },
    reading: null,
    ...values,
  }) as unknown as FineTuneValidation;

it('shows the examples, duration, device and maximum cost', () => {
  expect(costSentence(checked(), '', 'USD')).toBe(
    '30 examples, about 8 min on this CPU, about $0.01, never more than $0.02.',
  );
  expect(costSentence(checked({ placement: { device: 'gpu' } }), '1', 'BGL')).toBe(
    '30 examples, about 8 min on a GPU, about 0.25 BGL, never more than 1.00 BGL.',
  );
});

it('rounds the maximum cost up', () => {
  const cost_estimate = { quote: { total: '0.2275' }, ceiling: '0.340686', duration_hours: 0.1 };
  expect(costSentence(checked({ cost_estimate }), '', 'USD')).toMatch(
    /, about \$0\.0091, never more than \$0\.014\.$/,
  );
  expect(costSentence(checked({ cost_estimate }), '', 'BGL')).toMatch(
    /, about 0\.23 BGL, never more than 0\.35 BGL\.$/,
  );
});

it('a ceiling below the estimate is the only amount shown', () => {
  expect(costSentence(checked(), '0.1', 'BGL')).toMatch(/ on this CPU, at most 0\.10 BGL\.$/);
});

it('examples of a file that is still being scanned are an estimate', () => {
  expect(costSentence(checked({ reading: {} }), '', 'USD')).toMatch(/^About 30 examples, /);
});
