import { REWARDS_MAX, rewardWeight } from '@bakehouse/contract/fine-tune-numbers';
import type { Reward } from '@bakehouse/contract/fine-tuning';
import { matchComparisons, stringChecks } from '@bakehouse/contract/limits';
import { Plus, X } from 'lucide-react';
import { Button } from '../../../../ui/button.tsx';
import { Field } from '../../../../ui/field.tsx';
import { Input } from '../../../../ui/input.tsx';
import { NumberField } from '../../../../ui/number-field.tsx';
import { Select } from '../../../../ui/select.tsx';
import { Textarea } from '../../../../ui/textarea.tsx';
import {
  blankReward,
  checkLabels,
  comparisonLabels,
  type RewardDraft,
  rewardLabels,
} from './reward-draft.ts';

type Props = {
  rewards: readonly RewardDraft[];
  problem: string | undefined;
  onChange: (rewards: RewardDraft[]) => void;
};

const kinds = (Object.keys(rewardLabels) as Reward['type'][]).map((value) => ({
  value,
  label: rewardLabels[value],
}));
const checks = stringChecks.map((value) => ({ value, label: checkLabels[value] }));
const comparisons = matchComparisons.map((value) => ({ value, label: comparisonLabels[value] }));

/** Edits rewards. An answer's reward is their sum. */
export function RewardFields({ rewards, problem, onChange }: Props) {
  const change = (at: number, values: Partial<RewardDraft>) =>
    onChange(rewards.map((reward, index) => (index === at ? { ...reward, ...values } : reward)));
  return (
    <Field
      label="Rewards"
      help="The reward of an answer is the sum of the weights of the rules it meets. The model learns to raise it."
      error={problem}
    >
      <ul className="flex flex-col gap-3">
        {rewards.map((reward, at) => (
          <li key={at} className="flex flex-col gap-4 rounded-xl bg-subtle p-4">
            <div className="grid items-start gap-4 sm:grid-cols-[1fr_11rem_auto]">
              <Field label={`Reward ${at + 1}`}>
                <Select value={reward.type} onChange={(type) => change(at, { type })} options={kinds} />
              </Field>
              <Field label="Weight" help="−100 to 100, usually 1.">
                <NumberField
                  value={Number.isNaN(reward.weight) ? null : reward.weight}
                  onChange={(weight) => change(at, { weight: weight ?? Number.NaN })}
                  {...rewardWeight}
                  maxDecimals={3}
                />
              </Field>
              {rewards.length > 1 && (
                <Button
                  size="sm"
                  variant="ghost"
                  className="sm:mt-7"
                  aria-label={`Remove reward ${at + 1}`}
                  onClick={() => onChange(rewards.filter((_, index) => index !== at))}
                >
                  <X aria-hidden className="size-4" />
                </Button>
              )}
            </div>
            <RewardRule reward={reward} onChange={(values) => change(at, values)} />
          </li>
        ))}
      </ul>
      {rewards.length < REWARDS_MAX && (
        <Button size="sm" className="self-start" onClick={() => onChange([...rewards, blankReward])}>
          <Plus aria-hidden className="size-4" /> Add reward
        </Button>
      )}
    </Field>
  );
}

type RuleProps = { reward: RewardDraft; onChange: (values: Partial<RewardDraft>) => void };

/** Fields of the reward's rule. */
function RewardRule({ reward, onChange }: RuleProps) {
  switch (reward.type) {
    case 'pattern':
      return (
        <Field
          label="Pattern"
          help="A regular expression to find in the answer, such as ^Yes or (?i)thank you. Look-around and back-references are not supported."
        >
          <Input
            value={reward.pattern}
            onChange={(event) => onChange({ pattern: event.target.value })}
            className="font-mono"
            autoComplete="off"
            spellCheck={false}
          />
        </Field>
      );
    case 'match':
      return (
        <Field
          label="Compare"
          help="Compared with the row’s reference. Ignores whitespace, and commas in numbers."
        >
          <Select
            value={reward.compare}
            onChange={(compare) => onChange({ compare })}
            options={comparisons}
          />
        </Field>
      );
    case 'string_check':
      return <StringCheck reward={reward} onChange={onChange} />;
    case 'json_schema':
      return (
        <Field label="JSON Schema" help="The whole answer must be JSON that matches this schema.">
          <Textarea
            value={reward.json_schema}
            onChange={(event) => onChange({ json_schema: event.target.value })}
            className="font-mono"
            rows={5}
            spellCheck={false}
          />
        </Field>
      );
  }
}

function StringCheck({ reward, onChange }: RuleProps) {
  return (
    <div className="grid items-start gap-4 sm:grid-cols-[14rem_1fr]">
      <Field label="Check">
        <Select value={reward.operation} onChange={(operation) => onChange({ operation })} options={checks} />
      </Field>
      <Field label="Text" help="Defaults to the row’s reference. Ignores surrounding whitespace.">
        <Input
          value={reward.reference}
          onChange={(event) => onChange({ reference: event.target.value })}
          autoComplete="off"
          spellCheck={false}
        />
      </Field>
    </div>
  );
}
