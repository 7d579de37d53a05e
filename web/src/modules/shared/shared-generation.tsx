import { makesVideos } from '@bakehouse/contract/generators';
import type { SharedGeneration } from '@bakehouse/contract/share-links';
import { Sparkles } from 'lucide-react';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Frame } from '../generations/view/frame.tsx';
import { isVideo, Media } from '../generations/view/media.tsx';
import { VideoFacts } from '../generations/view/video.tsx';
import { byline } from './byline.ts';
import { columnsClass } from './columns-class.ts';

/** A picture or video with its prompt. */
export function SharedGenerationPage({ shared }: { shared: SharedGeneration }) {
  const { generator, title, prompt, outputs } = shared;
  return (
    <>
      <PageHeader
        title={`${title} ${makesVideos(generator) ? 'video' : 'picture'}`}
        description={byline(shared)}
      />
      <div className={columnsClass}>
        <Outputs outputs={outputs} prompt={prompt} />
        <Card title="Prompt" actions={<CopyButton text={prompt} label="Copy prompt" />}>
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{prompt}</p>
          <ButtonLink to={`/${generator}`} search={{ prompt }} className="mt-4">
            <Sparkles aria-hidden />
            Make your own
          </ButtonLink>
        </Card>
      </div>
    </>
  );
}

/** Each at its own size, as far as the window has room for it. */
function Outputs({ outputs, prompt }: Pick<SharedGeneration, 'outputs' | 'prompt'>) {
  const nameOf = (index: number) =>
    outputs.length > 1 ? `${prompt}, ${index + 1} of ${outputs.length}` : prompt;
  return (
    <div className={outputs.length > 1 ? 'grid gap-3 sm:grid-cols-2' : 'grid gap-3'}>
      {outputs.map((output, index) => (
        <Frame key={output.id}>
          <Media
            media={output}
            alt={nameOf(index)}
            className="h-auto max-h-[min(40rem,80dvh)] w-full object-contain"
          />
          {isVideo(output) && (
            <VideoFacts video={output} className="border-line border-t bg-surface px-4 py-3" />
          )}
        </Frame>
      ))}
    </div>
  );
}
