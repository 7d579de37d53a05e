import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import type { ReactNode } from 'react';
import { EditStart } from '../gallery/edit-picture/edit-start.tsx';
import { PictureHistory } from '../gallery/gallery/picture-history.tsx';
import { GeneratorResults } from '../gallery/generator-results.tsx';
import { useGeneratorPage } from './generator-context.ts';
import { UseFromCode } from './use-from-code.tsx';

/** The current result of the form with this id; for an edit, also its upload. */
export function OwnResults({ form, empty }: { form: string; empty: ReactNode }) {
  const { name, serving, draft, change, generation } = useGeneratorPage();
  const { awaited, shown, show } = generation;
  const startOver = () => {
    generation.reset();
    change({ prompt: '', source: null, mask: undefined });
  };
  if (awaited) return <EditStart {...awaited} form={form} onStartOver={startOver} />;
  return (
    <GeneratorResults
      generator={name}
      shown={shown}
      wanted={{ source: draft.source, model: serving.namedModel }}
      onShow={show}
      empty={empty}
      onStartOver={editsPictures(generators[name]) ? startOver : undefined}
    />
  );
}

/** Earlier results and code samples. */
export function OwnHistory() {
  const { name, generation } = useGeneratorPage();
  const { awaited, isStarting } = generation;
  return (
    <>
      <PictureHistory generator={name} awaited={isStarting && awaited ? awaited.source : null} />
      <UseFromCode />
    </>
  );
}
