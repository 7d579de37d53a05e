import { Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { AmountField } from '../ui/amount-field.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { CheckboxGroup } from '../ui/checkbox-group.tsx';
import { Combobox } from '../ui/combobox.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Field } from '../ui/field.tsx';
import { FileDrop } from '../ui/file-drop.tsx';
import { Input } from '../ui/input.tsx';
import { LastDayField } from '../ui/last-day-field.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { RadioCards } from '../ui/radio-cards.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Segmented } from '../ui/segmented.tsx';
import { Select } from '../ui/select.tsx';
import { Switch } from '../ui/switch.tsx';
import { TagInput } from '../ui/tag-input.tsx';
import { Textarea } from '../ui/textarea.tsx';
import { Specimen } from './specimen.tsx';

const options = [
  { value: 'small', label: 'Small' },
  { value: 'large', label: 'Large' },
  { value: 'off', label: 'Not offered', disabled: true },
];

export function Controls() {
  return (
    <>
      <Buttons />
      <Choices />
      <Fields />
    </>
  );
}

function Buttons() {
  const variants = ['primary', 'secondary', 'ghost', 'danger'] as const;
  return (
    <>
      {variants.map((variant) => (
        <Specimen key={variant} name={`Button ${variant}`}>
          <Button variant={variant} size="sm">
            Small
          </Button>
          <Button variant={variant}>Medium</Button>
          <Button variant={variant} size="lg">
            Large
          </Button>
          <Button variant={variant} disabled>
            Disabled
          </Button>
          <Button variant={variant} loading>
            Loading
          </Button>
          <Button variant={variant} size="icon" aria-label="Add">
            <Plus aria-hidden />
          </Button>
        </Specimen>
      ))}
      <Specimen name="ButtonLink, CopyButton">
        <ButtonLink to="/">A link</ButtonLink>
        <CopyButton text="text" label="Copy the text" />
        <CopyButton text="text" label="Copy the text" withText />
      </Specimen>
    </>
  );
}

function Choices() {
  const [size, setSize] = useState('small');
  const [checked, setChecked] = useState(true);
  const [many, setMany] = useState<string[]>(['small']);
  return (
    <>
      <Specimen name="Segmented">
        <Segmented label="Size" value={size} onChange={setSize} options={options} />
      </Specimen>
      <Specimen name="Switch, Checkbox, CheckboxGroup">
        <Labelled label="Switch">
          <Switch checked={checked} onChange={setChecked} />
        </Labelled>
        <Checkbox checked={checked} onChange={setChecked} label="Checkbox" />
        <Field label="Checkbox group">
          <CheckboxGroup value={many} onChange={setMany} options={options} />
        </Field>
      </Specimen>
      <Specimen name="RadioCards">
        <RadioCards
          aria-label="Size"
          value={size}
          onChange={setSize}
          columns={3}
          options={options.map((option) => ({ ...option, description: 'One line about the choice.' }))}
        />
      </Specimen>
      <Specimen name="Select, Combobox">
        <Select aria-label="Size" value={size} onChange={setSize} options={options} className="w-44" />
        <Select aria-label="Small select" size="sm" value={null} onChange={setSize} options={options} />
        <Combobox
          aria-label="Model"
          value={size}
          onChange={(next) => setSize(next ?? '')}
          options={options}
        />
        <Combobox aria-label="Loading" value={null} onChange={() => undefined} options={[]} loading />
        <Combobox aria-label="Disabled" value={null} onChange={() => undefined} options={options} disabled />
      </Specimen>
    </>
  );
}

function Fields() {
  const [text, setText] = useState('');
  const [number, setNumber] = useState<number | null>(3);
  const [tags, setTags] = useState(['bread', 'a long tag that is cut because it does not fit in its badge']);
  const [amount, setAmount] = useState('25');
  const [day, setDay] = useState('');
  return (
    <>
      <Specimen name="Field with Input, Textarea, NumberField">
        <Field label="Empty" help="Help below the control." aside="Optional" className="w-56">
          <Input placeholder="Placeholder" value={text} onChange={({ target }) => setText(target.value)} />
        </Field>
        <Field label="Wrong" error="Enter a name of at most 100 characters." className="w-56">
          <Input defaultValue="A name" />
        </Field>
        <Field label="Disabled" className="w-56">
          <Input disabled defaultValue="A name" />
        </Field>
        <Field label="Text" className="w-56">
          <Textarea placeholder="Several lines" />
        </Field>
        <Field label="Number" className="w-40">
          <NumberField value={number} onChange={setNumber} min={1} max={10} />
        </Field>
      </Specimen>
      <Specimen name="AmountField, LastDayField">
        <AmountField label="Amount" value={amount} onChange={setAmount} per="per hour" />
        <LastDayField value={day} onChange={setDay} help="The code works until the end of this day." />
      </Specimen>
      <Specimen name="TagInput, SearchInput">
        <Field label="Tags" className="w-72">
          <TagInput tags={tags} onChange={setTags} />
        </Field>
        <SearchInput label="Search models" value={text} onChange={setText} />
      </Specimen>
      <Specimen name="FileDrop">
        <FileDrop onFiles={() => undefined} hint="csv, jsonl, json, txt or parquet" />
        <FileDrop onFiles={() => undefined} hint="csv" isSlim />
      </Specimen>
    </>
  );
}

function Labelled({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Field label={label} className="w-28">
      {children}
    </Field>
  );
}
