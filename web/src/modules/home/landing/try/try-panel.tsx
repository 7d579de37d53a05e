import { ProductPicture } from '../../../../ui/product-picture.tsx';
import { useTries } from './tries.ts';
import { TryChat } from './try-chat.tsx';
import { TryPicture } from './try-picture.tsx';

/** Of the picture that stands here where nothing can be tried. */
const RUN_ALT =
  'A finished fine-tune: its losses, how long it took, what it cost, and its answers beside those of the base model';

/** A picture and a question that a visitor can ask the starter models for, without an account. */
export function TryPanel() {
  const { data, isError } = useTries();
  const state = (of: 'picture' | 'chat') => data?.[of] ?? (isError ? 'off' : 'preparing');
  if (state('picture') === 'off' && state('chat') === 'off')
    return <ProductPicture first name="run" alt={RUN_ALT} />;
  return (
    <div className="grid h-full gap-4 sm:grid-cols-2 sm:grid-rows-[minmax(0,1fr)]">
      <TryPicture state={state('picture')} />
      <TryChat state={state('chat')} model={data?.chat_model} />
    </div>
  );
}
