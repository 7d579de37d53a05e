import type { Generation } from '@bakehouse/contract/generations';
import { useEffect, useState } from 'react';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useGeneration } from '../generation-calls.ts';
import { Media } from '../view/media.tsx';
import type { Source } from './source.ts';

type Props = { source: Source; className: string };

/** The source picture of any kind. Decorative: its name is shown next to it. */
export function SourceImage({ source, className }: Props) {
  return 'file' in source ? (
    <FileImage key={source.file.name} file={source.file} className={className} />
  ) : (
    <GenerationImage source={source} className={className} />
  );
}

/** Returns the picture of a source that is not a file, from its generation. */
export function pictureOf(source: Exclude<Source, { file: File }>, generation: Generation) {
  if ('sameAsId' in source) return generation.source;
  const { outputId } = source;
  return generation.outputs.find(({ id }) => outputId === undefined || id === outputId);
}

function FileImage({ file, className }: { file: File; className: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url === undefined ? null : <Media media={{ url }} alt="" className={className} />;
}

type GenerationProps = { source: Exclude<Source, { file: File }>; className: string };

function GenerationImage({ source, className }: GenerationProps) {
  const { data } = useGeneration('sameAsId' in source ? source.sameAsId : source.generationId);
  const picture = data && pictureOf(source, data);
  if (!picture) return <Skeleton className={className} />;
  return <Media media={{ url: picture.url }} alt="" className={className} />;
}
