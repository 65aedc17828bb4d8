"""The HTML of a notebook's output: a page in a frame without access to the notebook, and sentences."""

from __future__ import annotations

from html import escape

HEIGHT = 720  # CSS pixels
# Sends the notebook's theme to the frame, now and at each change: light text means dark colours. No event reports a
# change in all notebooks, so the frame looks twice a second. A canvas reads any notation of colour.
SEND_THEME = (
    "const c=document.createElement('canvas').getContext('2d',{willReadFrequently:true});let last;"
    "const send=()=>{if(!this.isConnected)return;const colour=getComputedStyle(this).color;"
    "if(colour!==last){last=colour;c.clearRect(0,0,1,1);c.fillStyle=colour;c.fillRect(0,0,1,1);"
    "const [r,g,b]=c.getImageData(0,0,1,1).data;this.contentWindow.postMessage({dark:r+g+b>382},'*')}"
    "setTimeout(send,500)};send()"
)
STYLE = f"display:block;width:100%;height:{HEIGHT}px;border:0;border-radius:8px"
BLOCKED = "Trust this notebook, or open it in Jupyter, VS Code or Colab, to play this replay."


def frame_of(page: str, title: str) -> str:
    """Embed a page in a frame that may run only the page's own scripts.

    The sandbox gives it an opaque origin: it reaches neither the notebook nor its cookies. The text between the
    tags is what remains where frames are removed, as in an untrusted notebook.
    """
    return (
        f'<iframe title="Replay of {escape(title)}" sandbox="allow-scripts" style="{STYLE}" '
        f'onload="{SEND_THEME}" srcdoc="{escape(page)}">{BLOCKED}</iframe>'
    )


def notice_of(sentence: str, picture: str = "") -> str:
    """Return a sentence, above a picture in base64 if there is one."""
    image = f'<img alt="" style="max-width:100%" src="data:image/png;base64,{picture}">' if picture else ""
    return f"<p>{escape(sentence)}</p>{image}"
