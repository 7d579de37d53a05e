import type { Generation } from '@bakehouse/contract/generations';
import { type ComponentProps, useEffect, useState } from 'react';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useGeneration } from '../generation-calls.ts';
import { Media } from '../view/media.tsx';
import type { Source } from './source.ts';

type Look = Pick<ComponentProps<'img'>, 'draggable' | 'onLoad' | 'onError'> & { className: string };
type Props = Look & { source: Source };

/** The source picture of any kind. Decorative: its name is shown next to it. */
export function SourceImage({ source, ...look }: Props) {
  return 'file' in source ? (
    <FileImage key={source.file.name} file={source.file} {...look} />
  ) : (
    <GenerationImage source={source} {...look} />
  );
}

/** Returns the picture of a source that is not a file, from its generation. */
export function pictureOf(source: Exclude<Source, { file: File }>, generation: Generation) {
  if ('sameAsId' in source) return generation.source;
  const { outputId } = source;
  return generation.outputs.find(({ id }) => outputId === undefined || id === outputId);
}

function FileImage({ file, ...look }: Look & { file: File }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url === undefined ? null : <Media media={{ url }} alt="" {...look} />;
}

type GenerationProps = Look & { source: Exclude<Source, { file: File }> };

function GenerationImage({ source, ...look }: GenerationProps) {
  const { data } = useGeneration('sameAsId' in source ? source.sameAsId : source.generationId);
  const picture = data && pictureOf(source, data);
  if (!picture) return <Skeleton className={look.className} />;
  return <Media media={{ url: picture.url }} alt="" {...look} />;
}
