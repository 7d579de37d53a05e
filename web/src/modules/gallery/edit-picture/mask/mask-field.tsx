import { Brush } from 'lucide-react';
import { lazy, useState } from 'react';
import { LazyPart } from '../../../../ui/boundary.tsx';
import { Button } from '../../../../ui/button.tsx';
import { Field } from '../../../../ui/field.tsx';
import { notify } from '../../../../ui/notify.ts';
import { useGeneration } from '../../generation-calls.ts';
import { readMask } from '../send-source.ts';
import type { Mask, Source } from '../source.ts';

/** Loaded later: most edits have no mask. */
const MaskEditor = lazy(async () => ({ default: (await import('./mask-editor.tsx')).MaskEditor }));

type Props = {
  source: Source;
  mask: Mask;
  onChange: (mask: Mask) => void;
  /** How the model reads a whole picture. */
  note?: string | undefined;
};

/** The area of the picture to change: all of it, or what the user paints. */
export function MaskField({ source, mask, onChange, note }: Props) {
  const { data: earlier } = useGeneration('sameAsId' in source ? source.sameAsId : null);
  const hasMask = mask === undefined ? !!earlier?.source?.mask_url : mask !== null;
  const [opened, setOpened] = useState<{ mask: ImageBitmap | null } | null>(null);

  async function open() {
    try {
      const file = await readMask(source, mask);
      setOpened({ mask: file && (await createImageBitmap(file)) });
    } catch {
      notify.failure('The area could not be loaded', { description: 'Try again, or remove it.' });
    }
  }

  return (
    <Field label="Area to change">
      <div role="group" aria-label="Area to change" className="flex flex-wrap items-center gap-3">
        <p className="min-w-32 flex-1 text-compact">
          {hasMask ? 'Only the painted area' : 'The whole picture'}
          <small className="block text-muted text-xs">
            {hasMask ? 'Pixels outside the area are not changed.' : note}
          </small>
        </p>
        <Button size="sm" onClick={() => void open()}>
          <Brush aria-hidden />
          {hasMask ? 'Edit the area' : 'Paint an area'}
        </Button>
        {hasMask && (
          <Button size="sm" variant="ghost" aria-label="Remove the area" onClick={() => onChange(null)}>
            Remove
          </Button>
        )}
      </div>
      {opened && (
        <LazyPart>
          <MaskEditor
            source={source}
            mask={opened.mask}
            onDone={(painted) => {
              setOpened(null);
              onChange(painted);
            }}
            onClose={() => setOpened(null)}
          />
        </LazyPart>
      )}
    </Field>
  );
}
