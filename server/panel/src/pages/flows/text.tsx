import { t } from '../../text'
import { type Draft, type Shown, write } from './draft'
import { Problems } from './problems'

/** TextView edits the document as text. */
export function TextView({ draft, shown, readOnly }: { draft: Draft; shown: Shown; readOnly: boolean }) {
  return (
    <div className="flow-text-view">
      <textarea
        className="input mono flow-text"
        aria-label={t('flows.document')}
        aria-invalid={shown.saving === 'unreadable' ? true : undefined}
        spellCheck={false}
        readOnly={readOnly}
        value={shown.text ?? write(shown.document)}
        onChange={(event) => draft.type(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 's' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault()
            void draft.flush()
          }
        }}
      />
      <section className="stack" aria-labelledby="problems">
        <h2 id="problems">{t('flows.problems', { n: shown.problems.length })}</h2>
        <Problems problems={shown.problems} />
      </section>
    </div>
  )
}
