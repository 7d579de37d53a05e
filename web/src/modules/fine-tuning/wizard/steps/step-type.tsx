import { Globe, Sparkles, Upload } from 'lucide-react';
import { Field } from '../../../../ui/field.tsx';
import { RadioCards } from '../../../../ui/radio-cards.tsx';
import type { ModelType } from '../../parameters/training-parameters.ts';
import type { Wizard } from '../wizard-state.ts';

type Props = { wizard: Pick<Wizard, 'state' | 'problems' | 'dispatch'> };

export function StepType({ wizard: { state, problems, dispatch } }: Props) {
  return (
    <Field label="What do you want to make?" error={problems.type}>
      <RadioCards<ModelType>
        aria-label="Model type"
        value={state.type}
        onChange={(type) => dispatch({ do: 'change', values: { type } })}
        options={[
          {
            value: 'finetune',
            label: 'Fine-tune a model',
            description:
              'Train an existing model on one of your datasets. The result is a small adapter for that model, or a whole model.',
            icon: <Sparkles aria-hidden />,
          },
          {
            value: 'huggingface',
            label: 'Fine-tune a model from the hub',
            description:
              'Clone a public model from the Hugging Face Hub, and train it on one of your datasets.',
            icon: <Globe aria-hidden />,
          },
          {
            value: 'upload',
            label: 'Upload a model',
            description:
              'Bring your own weights: safetensors or GGUF, with their tokenizer and configuration.',
            icon: <Upload aria-hidden />,
          },
        ]}
      />
    </Field>
  );
}
