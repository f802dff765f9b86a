import { t } from '../../text'
import { Badge, type Tone } from '../../ui/parts'
import type { Template } from '../../ui/template/parts'

export const statuses = ['APPROVED', 'PENDING', 'REJECTED', 'DISABLED'] as const

const tones: Record<Template['status'], Tone> = { APPROVED: 'ok', PENDING: 'warn', REJECTED: 'bad', DISABLED: 'bad' }

/** Status says whether a template can be sent. */
export function Status({ template }: { template: Template }) {
  return <Badge tone={tones[template.status]}>{t(`templates.${template.status}`)}</Badge>
}

const qualities = { GREEN: 'ok', YELLOW: 'warn', RED: 'bad' } as const

/** Quality is what contacts think of a template; of most nobody knows. */
export function Quality({ template }: { template: Template }) {
  const quality = template.quality as keyof typeof qualities | null
  return quality && quality in qualities ? <Badge tone={qualities[quality]}>{t(`templates.${quality}`)}</Badge> : null
}

/** categoryName is the network's word where it has one that we do not know. */
export function categoryName(category: string): string {
  return category === 'MARKETING' || category === 'UTILITY' || category === 'AUTHENTICATION' ? t(`templates.${category}`) : category
}
