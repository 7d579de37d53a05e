import { loadable } from '../lib/loadable.tsx';
import { DeferredPart } from './deferred-part.tsx';
import { LoadingRegion, Skeleton } from './skeleton.tsx';

const MarkdownContent = loadable(async () => (await import('./markdown-content.tsx')).default);
const GrowingMarkdown = loadable(async () => (await import('./markdown-content.tsx')).GrowingMarkdown);

/** A card or README. The renderer loads when the first one is shown; YAML front matter is left out. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose-bakehouse">
      <DeferredPart
        unavailable={<PlainText text={text} />}
        pending={
          <LoadingRegion className="space-y-3">
            <Skeleton className="h-5 w-1/3" />
            <Skeleton className="h-4 w-full" />
            <Skeleton className="h-4 w-4/5" />
          </LoadingRegion>
        }
      >
        <MarkdownContent text={text} />
      </DeferredPart>
    </div>
  );
}

/** A few lines that somebody typed, or a model's answer: markdown where it is some, and every line break as it was typed. */
export function MarkdownLines({ text }: { text: string }) {
  return (
    <div className="prose-bakehouse [&_p]:whitespace-pre-line">
      <DeferredPart pending={<PlainText text={text} />} unavailable={<PlainText text={text} />}>
        <GrowingMarkdown text={text} />
      </DeferredPart>
    </div>
  );
}

/** Stands there while the renderer is fetched, and where it cannot be had. */
function PlainText({ text }: { text: string }) {
  return (
    <p dir="auto" className="whitespace-pre-wrap">
      {text}
    </p>
  );
}
