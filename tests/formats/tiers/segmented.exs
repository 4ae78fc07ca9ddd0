<?xml version="1.0" encoding="UTF-8"?>
<segmented-transcription>
<head/>
<segmented-body><common-timeline><tli id="T0" time="0"/></common-timeline></segmented-body>
</segmented-transcription>
