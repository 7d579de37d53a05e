import { ThumbsDown, ThumbsUp } from 'lucide-react';

/** Shows whether an example's answer is rated good or bad. */
export function SampleRating({ isGood }: { isGood: boolean }) {
  const Thumb = isGood ? ThumbsUp : ThumbsDown;
  return (
    <p className="mb-2 flex items-center gap-1.5 font-medium text-compact">
      <Thumb aria-hidden className="size-3.5" />
      {isGood ? 'Good answer' : 'Bad answer'}
    </p>
  );
}
