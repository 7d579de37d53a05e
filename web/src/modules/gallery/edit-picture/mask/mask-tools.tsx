import { Field as BaseField } from '@base-ui/react/field';
import { Undo2 } from 'lucide-react';
import { useState } from 'react';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Button } from '../../../../ui/button.tsx';
import { Disclosure } from '../../../../ui/disclosure.tsx';
import { Field } from '../../../../ui/field.tsx';
import { NumberField } from '../../../../ui/number-field.tsx';
import { Segmented } from '../../../../ui/segmented.tsx';
import type { SetShapes, Shape, Size, Tool } from './mask-shapes.ts';

type Props = {
  tool: Tool;
  size: Size;
  shapes: readonly Shape[];
  setShapes: SetShapes;
  onChange: (changed: Partial<Tool>) => void;
};

const tools = [
  { value: 'brush', label: 'Brush' },
  { value: 'eraser', label: 'Eraser' },
] as const;

const actions = [
  { kind: 'all', label: 'Select all' },
  { kind: 'invert', label: 'Invert' },
  { kind: 'clear', label: 'Clear' },
] as const;

/** The tools below the picture. A rectangle by coordinates needs no pointer. */
export function MaskTools({ tool, size, shapes, setShapes, onChange }: Props) {
  const side = Math.min(size.width, size.height);
  const add = (shape: Shape) => setShapes((all) => [...all, shape]);
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <Segmented
          label="Tool"
          options={tools}
          value={tool.erases ? 'eraser' : 'brush'}
          onChange={(chosen) => onChange({ erases: chosen === 'eraser' })}
        />
        <Button size="sm" disabled={shapes.length === 0} onClick={() => setShapes((all) => all.slice(0, -1))}>
          <Undo2 aria-hidden />
          Undo
        </Button>
        {actions.map(({ kind, label }) => (
          <Button key={kind} size="sm" onClick={() => add({ kind })}>
            {label}
          </Button>
        ))}
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Range
          label="Brush size"
          {...{ min: 1, max: Math.max(1, Math.round(side / 2)), value: tool.thickness }}
          onChange={(thickness) => onChange({ thickness })}
        />
        <Range
          label="Feather"
          help="Softens the edge, so that the change blends in."
          {...{ min: 0, max: Math.max(1, Math.round(side / 8)), value: tool.feather }}
          onChange={(feather) => onChange({ feather })}
        />
      </div>
      <Disclosure title="Rectangle by coordinates">
        <RectangleFields size={size} onAdd={add} />
      </Disclosure>
    </div>
  );
}

type RangeProps = {
  label: string;
  help?: string;
  min: number;
  max: number;
  value: number;
  onChange: (value: number) => void;
};

function Range({ label, help, onChange, ...range }: RangeProps) {
  return (
    <Field label={label} help={help} aside={`${formatNumber(range.value)} px`}>
      <BaseField.Control
        type="range"
        {...range}
        onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}
        className="h-6 w-full accent-accent"
      />
    </Field>
  );
}

type Typed = Record<'left' | 'top' | 'width' | 'height', number | null>;

function RectangleFields({ size, onAdd }: { size: Size; onAdd: (shape: Shape) => void }) {
  const [typed, setTyped] = useState<Typed>({ left: 0, top: 0, ...size });
  const fields = [
    { side: 'left', label: 'Left', min: 0, max: size.width - 1 },
    { side: 'top', label: 'Top', min: 0, max: size.height - 1 },
    { side: 'width', label: 'Width', min: 1, max: size.width },
    { side: 'height', label: 'Height', min: 1, max: size.height },
  ] as const;
  const isRight = fields.every(({ side, min, max }) => {
    const value = typed[side];
    return value !== null && value >= min && value <= max;
  });
  const add = (erases: boolean) =>
    onAdd({ kind: 'rectangle', erases, ...(typed as Record<keyof Typed, number>) });
  return (
    <div className="grid gap-3">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        {fields.map(({ side, label, min, max }) => (
          <Field key={side} label={label} help={`${formatNumber(min)} to ${formatNumber(max)} px`}>
            <NumberField
              {...{ min, max }}
              value={typed[side]}
              onChange={(value) => setTyped((current) => ({ ...current, [side]: value }))}
            />
          </Field>
        ))}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" disabled={!isRight} onClick={() => add(false)}>
          Add rectangle
        </Button>
        <Button size="sm" disabled={!isRight} onClick={() => add(true)}>
          Erase rectangle
        </Button>
      </div>
    </div>
  );
}
