import { t } from '../../text'
import { Badge } from '../../ui/parts'
import type { Extractor } from './config'

const tones = { training: 'warn', ready: 'ok', failed: 'bad' } as const

/** Training says whether the intents have been learned. */
export function Training({ extractor }: { extractor: Extractor }) {
  if (!extractor.training) return null
  return <Badge tone={tones[extractor.training]}>{t(`extractors.${extractor.training}`)}</Badge>
}
