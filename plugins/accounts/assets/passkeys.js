// The one thing pages cannot do without a script: talking to an authenticator. Everything else here only helps.

const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const listed = (credentials = []) => credentials.map((one) => ({ ...one, id: bytes(one.id) }));

async function create(options) {
  const made = await navigator.credentials.create({ publicKey: {
    ...options, challenge: bytes(options.challenge), user: { ...options.user, id: bytes(options.user.id) }, excludeCredentials: listed(options.excludeCredentials),
  } });
  const { clientDataJSON, attestationObject } = made.response;
  return {
    id: made.id, rawId: text(made.rawId), type: made.type, clientExtensionResults: made.getClientExtensionResults(),
    response: { clientDataJSON: text(clientDataJSON), attestationObject: text(attestationObject), transports: made.response.getTransports?.() ?? [] },
  };
}

async function get(options) {
  const found = await navigator.credentials.get({ publicKey: { ...options, challenge: bytes(options.challenge), allowCredentials: listed(options.allowCredentials) } });
  const { clientDataJSON, authenticatorData, signature, userHandle } = found.response;
  return {
    id: found.id, rawId: text(found.rawId), type: found.type, clientExtensionResults: found.getClientExtensionResults(),
    response: { clientDataJSON: text(clientDataJSON), authenticatorData: text(authenticatorData), signature: text(signature), userHandle: userHandle ? text(userHandle) : undefined },
  };
}

const CEREMONIES = { create, get };

// The alert of a form has the texts in the language of the page.
const FAULTS = { NotAllowedError: 'cancelledText', InvalidStateError: 'knownText', NotSupportedError: 'unfitText', SecurityError: 'addressText' };

async function begun(form) {
  const fields = new URLSearchParams([...new FormData(form)].filter(([name]) => name !== (form.dataset.answer ?? 'answer')));
  const response = await fetch(form.dataset.options, { method: 'POST', body: fields, headers: { accept: 'application/json' } });
  const body = await response.json().catch(() => ({}));
  // Sent without a ceremony, the form leads to the page that asks for the proof.
  if (body.code === 'confirmation_required') return null;
  if (!response.ok) throw new Error(body.detail ?? form.querySelector('[role=alert]').dataset.serverText);
  return body;
}

for (const form of document.querySelectorAll('form[data-ceremony]')) {
  const status = form.querySelector('[role=alert]');
  const button = form.querySelector('button');
  const fault = !globalThis.PublicKeyCredential ? status.dataset.browserText
    : location.origin === form.dataset.origin ? null : status.dataset.elsewhereText;
  if (fault) {
    status.textContent = fault;
    button.disabled = true;
    continue;
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    status.textContent = '';
    button.disabled = true;
    form.setAttribute('aria-busy', 'true');
    try {
      const begin = await begun(form);
      if (begin) {
        const response = await CEREMONIES[form.dataset.ceremony](begin.options);
        form.elements.namedItem(form.dataset.answer ?? 'answer').value = JSON.stringify({ ceremony: begin.ceremony, response });
      }
      form.submit();
    } catch (error) {
      status.textContent = status.dataset[FAULTS[error.name]] ?? error.message;
      button.disabled = false;
      // A button that is switched off loses the focus.
      button.focus();
      form.removeAttribute('aria-busy');
    }
  });
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!navigator.clipboard) continue;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = button.dataset.copiedText;
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
